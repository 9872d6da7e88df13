// The 20 objects that retain most, of a heap snapshot of V8, by memlab: node memlab.js SNAPSHOT
const { getFullHeapFromFile } = require('@memlab/heap-analysis');

getFullHeapFromFile(process.argv[2]).then(heap => {
  const largest = [];
  heap.nodes.forEach(node => {
    if (largest.length < 20 || node.retainedSize > largest[19].retained) {
      largest.push({ id: node.id, type: node.type, name: node.name.slice(0, 60), retained: node.retainedSize });
      largest.sort((a, b) => b.retained - a.retained);
      largest.length = Math.min(largest.length, 20);
    }
  });
  for (const { id, type, name, retained } of largest) console.log(`${retained}\t@${id}\t${type}\t${name}`);
});
