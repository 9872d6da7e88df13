// Parses documents into nested objects, arrays and maps, as benches/ruby/documents.rb does, and writes a heap snapshot.
//
//   node --max-old-space-size=8192 benches/v8/documents.js DOCUMENTS SNAPSHOT

const fs = require("node:fs");
const v8 = require("node:v8");

const [documents, snapshot] = [Number(process.argv[2]), process.argv[3]];

class Section {
  constructor(fields) {
    this.fields = fields;
    this.words = fields.text.split(" ");
  }
}

class Document {
  constructor(title, sections) {
    this.title = title;
    this.sections = sections;
    this.index = new Map();
    for (const section of sections) {
      for (const word of section.words) {
        if (!this.index.has(word)) this.index.set(word, []);
        this.index.get(word).push(section);
      }
    }
  }
}

// Always the same documents: a linear congruential generator, as Math.random takes no seed.
let state = 42;
const random = (below) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};
const vocabulary = Array.from({ length: 5000 }, (_, number) => `word${number}${"s".repeat(random(8))}`);
const words = (count) => Array.from({ length: count }, () => vocabulary[random(vocabulary.length)]);
const write = (number) =>
  JSON.stringify({
    title: `Document ${number}`,
    author: { name: `author${number % 97}`, mail: `author${number % 97}@example.org` },
    sections: Array.from({ length: 60 }, (_, section) => ({
      number: section,
      text: words(24).join(" "),
      tags: words(5),
      ratio: random(2 ** 31) * 1e300,
    })),
  });

globalThis.kept = [];
for (let number = 0; number < documents; number += 1) {
  const parsed = JSON.parse(write(number));
  kept.push(new Document(parsed.title, parsed.sections.map((fields) => new Section(fields))));
}
v8.writeHeapSnapshot(snapshot);
console.log(`${documents} documents, ${fs.statSync(snapshot).size} bytes`);
