// Prints what DevTools' own code says of a V8 heap snapshot; see README.md.
//
//   node devtools.mjs SNAPSHOT constructors|shown|retained OUTPUT [--page]
//
// constructors: objects and self sizes by constructor, sizes as they are in the snapshot
// shown:        the same with the sizes that DevTools shows: those of arrays and hidden objects that one
//               object owns count for their owner
// retained:     the retained size of every node, in order
// --page:       references from the system to objects of the page do not retain, as in DevTools' view
//
// Plain objects are all called Object; DevTools' view divides them by their properties.
import * as HeapSnapshot from './package/front_end/entrypoints/heap_snapshot_worker/HeapSnapshot.js';
import * as Loader from './package/front_end/entrypoints/heap_snapshot_worker/HeapSnapshotLoader.js';
import * as fs from 'node:fs';
import {MessageChannel} from 'node:worker_threads';

const [snapshotPath, question, outputPath] = process.argv.slice(2);
console.warn = console.time = console.timeEnd = () => {};

const withPage = process.argv.includes('--page');
const all: any = HeapSnapshot.HeapSnapshot.prototype, js: any = HeapSnapshot.JSHeapSnapshot.prototype;
all.inferInterfaceDefinitions = () => [];
if (question !== 'shown') {
  js.calculateShallowSizes = () => {};
}
if (!withPage) {
  js.markPageOwnedNodes = function() { this.flags.fill(this.nodeFlags.pageObject); };
}

const loader = new Loader.HeapSnapshotLoader({sendEvent() {}} as any);
const file = fs.openSync(snapshotPath, 'r');
const buffer = Buffer.alloc(1 << 20);
for (let read; (read = fs.readSync(file, buffer)) > 0;) {
  loader.write(buffer.toString('latin1', 0, read));
  await new Promise(resolve => setImmediate(resolve));
}
loader.close();
const channel = new MessageChannel();
new (HeapSnapshot as any).SecondaryInitManager(channel.port2);
const snapshot: any = await loader.buildSnapshot(channel.port1 as any);

if (question === 'retained') {
  fs.writeFileSync(outputPath, Array.from(snapshot.retainedSizes).join('\n') + '\n');
} else {
  const rows = new Map<string, [number, number]>();
  for (const aggregate of Object.values(snapshot.getAggregatesByClassKey(false)) as any[]) {
    const [count, self] = rows.get(aggregate.name) ?? [0, 0];
    rows.set(aggregate.name, [count + aggregate.count, self + aggregate.self]);
  }
  const lines = [...rows].map(([name, [count, self]]) => `${count}\t${self}\t${JSON.stringify(name)}\n`);
  fs.writeFileSync(outputPath, lines.sort().join(''));
}
process.exit(0);
