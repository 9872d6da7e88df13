// The texts of all strings of a heap snapshot of V8 by memlab, as lines `[id, text]`: node strings.js SNAPSHOT
const { getFullHeapFromFile } = require('@memlab/heap-analysis');

getFullHeapFromFile(process.argv[2]).then(heap => {
  let lines = [];
  const write = () => {
    process.stdout.write(lines.join(''));
    lines = [];
  };
  heap.nodes.forEach(node => {
    if (!['string', 'concatenated string'].includes(node.type)) return;
    lines.push(`${JSON.stringify([node.id, node.toStringNode().stringValue])}\n`);
    if (lines.length >= 10000) write();
  });
  write();
});
