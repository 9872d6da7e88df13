// Attributes as the server tells them, for modules that ask no server.
import { attributes } from '../../page/asked_rows.js';

/** @param {string[]} words @param {string} key @param {{lists?: boolean, groups?: boolean, totals?: boolean}} parts */
const attribute = (words, key, parts) => ({ words, document: '', key, lists: false, groups: false, totals: false, ...parts });

attributes.objects = [
  attribute(['type'], 'type', { lists: true, groups: true }), attribute(['text'], 'name', { lists: true, groups: true }),
  attribute(['kind'], 'kind', { lists: true, groups: true }), attribute(['site'], 'site', { lists: true, groups: true }),
  attribute(['size', 'shallow'], 'shallow_bytes', { lists: true, totals: true }), attribute(['count'], 'objects', { totals: true }),
  attribute(['retained'], 'retained_bytes', { lists: true, totals: true }), attribute(['distance'], 'distance', { lists: true }),
];
attributes.processes = [attribute(['process'], 'process', { lists: true }), attribute(['class'], 'class', { lists: true, groups: true })];
