// A few objects of every sort, and a garbage-collected heap around them.
'use strict';
const v8 = require('v8');

class Card {
  constructor(value, suit) { this.value = value; this.suit = suit; this.next = null; }
  get name() { return `${this.value} of ${this.suit}`; }
}
class Deck {
  #secret = Symbol('secret');
  constructor() { this.cards = []; this.byName = new Map(); this.notes = new WeakMap(); this.seen = new Set(); }
  add(card) {
    this.cards.push(card);
    this.byName.set(card.name, card);
    this.notes.set(card, { text: 'note ' + card.name, big: 12345678901234567890n, ratio: card.value / 7 });
    this.seen.add(card.suit);
  }
}
const deck = new Deck();
let last = null;
for (const suit of ['clubs', 'diamonds', 'hearts', 'spades']) {
  for (let value = 1; value <= 13; value++) {
    const card = new Card(value, suit);
    card.next = last;
    last = card;
    deck.add(card);
  }
}
// Another constructor of the same name.
const Other = (() => { class Card { constructor(text) { this.text = text; } } return Card; })();
global.deck = deck;
global.others = Array.from({ length: 20 }, (_, i) => new Other(`größer € 😀 \ud83d ${i} "quoted"\n`));
global.ring = {}; global.ring.self = global.ring;
global.weak = new WeakRef(deck.cards[3]);
global.bound = deck.add.bind(deck, last);
global.pattern = /car(d|t)s?/giu;
global.bytes = new Uint8Array(5000).buffer;
global.long = 'x'.repeat(3000);
global.joined = global.long + deck.cards[0].name + Math.PI;
global.sliced = global.joined.slice(20, 2000);
global.generator = (function* () { yield deck; })();
global.generator.next();
for (const out of process.argv.slice(2)) {
  v8.writeHeapSnapshot(out);
  deck.add(new Card(14, 'jokers'));
}
