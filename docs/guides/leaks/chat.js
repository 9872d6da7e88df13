// A chat server with a leak, for docs/guides/leaks.md: writes its heap after each hour of chatting.
//
//     node chat.js            chat-1.heapsnapshot to chat-8.heapsnapshot
//     node chat.js fixed      fixed-1.heapsnapshot to fixed-8.heapsnapshot, without the leak
'use strict';

const v8 = require('node:v8');

const fixed = process.argv.includes('fixed');
// The same numbers every time.
let seed = 1;
const random = (below) => (seed = (seed * 48271) % 2147483647) % below;

class Connection {
  constructor(id) {
    this.id = id;
    this.history = Array.from({ length: 40 }, (_, line) => ({ line, text: `line ${line} of ${id}` }));
  }
}

class Metrics {
  constructor() {
    this.gauges = new Map();
  }
}

class Server {
  constructor() {
    this.connections = new Map();
    this.metrics = new Metrics();
    this.avatars = new Map();
  }

  open(id) {
    const connection = new Connection(id);
    this.connections.set(id, connection);
    this.metrics.gauges.set(id, function linesOfConnection() {
      return connection.history.length;
    });
  }

  close(id) {
    this.connections.delete(id);
    if (fixed) this.metrics.gauges.delete(id);
  }

  // A cache: it grows in the beginning, and then no more.
  avatar(number) {
    if (!this.avatars.has(number)) this.avatars.set(number, { number, pixels: `${number}`.repeat(100) });
    return this.avatars.get(number);
  }
}

globalThis.server = new Server();
let opened = 0;
for (let hour = 1; hour <= 8; hour++) {
  for (let i = 0; i < 100; i++) {
    server.open(opened++);
    for (let j = 0; j < 20; j++) server.avatar(random(1000));
  }
  // Some stay longer than others.
  const stay = 20 + random(20);
  for (const id of [...server.connections.keys()].slice(0, -stay)) server.close(id);
  v8.writeHeapSnapshot(`${fixed ? 'fixed' : 'chat'}-${hour}.heapsnapshot`);
}
