// Makes the pictures of the main views in docs/images, from bundled recordings: `node web/e2e/screenshots.mjs [NAME…]`.
// `pngquant` makes them smaller, if it is installed.

import { spawnSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT, serve } from './harness/binary.mjs';
import { complete, fragment, launch, leave, openPage, settled } from './harness/browser.mjs';
import { BUILD, INVOICES, TRIAL } from './harness/fixtures.mjs';

const IMAGES = join(ROOT, 'docs/images');
/** What is pictured: a line, its view, and how. @type {{name: string, view: string, state: Record<string, string> | null, look: object}[]} */
const PICTURES = [
  { name: 'series', view: 'series', state: { q: 'growth' }, look: { height: 860 } },
  { name: 'types', view: 'types', state: { q: 'diff 0 5' }, look: { height: 640 } },
  { name: 'tree', view: 'tree', state: { q: 'dominators' }, look: { height: 760 } },
  { name: 'tree-dark', view: 'tree', state: { q: 'dominators', colour: 'growth' }, look: { height: 760, dark: true } },
  { name: 'flame', view: 'flame', state: { q: 'flame' }, look: { height: 760 } },
  { name: 'object', view: 'object', state: null, look: { height: 800 } },
  { name: 'lanes', view: 'lanes', state: { f: 'build.barrow', q: 'lanes', t: '0.1s..0.3s' }, look: { height: 900 } },
  { name: 'metric', view: 'metric', state: { f: 'trial.barrow', q: 'histogram wall scan' }, look: { height: 1400 } },
  { name: 'compare', view: 'compare', state: { f: 'trial.barrow', q: 'compare scan scan-new' }, look: { height: 1200 } },
  { name: 'narrow', view: 'series', state: { q: 'growth' }, look: { width: 390, height: 844 } },
];

const server = await serve([INVOICES, BUILD, TRIAL, '--no-index']);
const wanted = process.argv.slice(2);
const browser = await launch();
mkdirSync(IMAGES, { recursive: true });
for (const { name, view, state, look } of PICTURES.filter((one) => wanted.length === 0 || wanted.includes(one.name))) {
  const page = await openPage(browser, server, { ...look, fragment: fragment({ f: 'invoices.barrow', ...(state ?? { q: 'leaks' }) }) });
  await settled(page, state ? view : 'series');
  await complete(page);
  if (!state) {
    // The object that the first suspect piles up in.
    await page.locator('[data-section="leaks"] .suspect a[href*="info"]').nth(1).click();
    await settled(page, view);
    await complete(page);
  }
  if (view === 'tree') {
    await page.locator('[role="treegrid"] [role="row"][tabindex="0"]').focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => !document.querySelector('[role="treegrid"] [aria-busy]'));
    const before = await page.locator('[role="treegrid"]').getAttribute('aria-rowcount');
    await page.keyboard.press('Shift+ArrowRight');
    await page.waitForFunction((rows) => document.querySelector('[role="treegrid"]')?.getAttribute('aria-rowcount') !== rows && !document.querySelector('[role="treegrid"] [aria-busy]'), before);
    // The pointer is nowhere.
    await page.mouse.move(0, 0);
  }
  const file = join(IMAGES, `page-${name}.png`);
  await page.screenshot({ path: file });
  const { error } = spawnSync('pngquant', ['--force', '--strip', '--quality', '60-95', '--output', file, file]);
  console.log(`${file}: ${statSync(file).size} bytes${error ? ', without pngquant' : ''}`);
  await leave(page);
}
await browser.close();
await server.stop();
