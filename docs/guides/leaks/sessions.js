// A shop whose server keeps sessions that have ended, for docs/guides/node.md: writes its heap after some hours.
//
//     node sessions.js            sessions.heapsnapshot
//     node sessions.js fixed      fixed.heapsnapshot, without the leak
'use strict';

const v8 = require('node:v8');

const fixed = process.argv.includes('fixed');
// The same numbers every time.
let seed = 1;
const random = (below) => (seed = (seed * 48271) % 2147483647) % below;

class Session {
  constructor(user, plan) {
    this.user = `user-${user}`;
    this.plan = plan;
    this.open = true;
    this.requests = 0;
    this.pages = [];
  }

  visit(page) {
    this.requests++;
    this.pages.push({ page, milliseconds: random(900) / 10 });
  }
}

// Sessions with many requests wait here for an invoice.
class Billing {
  constructor() {
    this.pending = [];
  }

  // Nothing is billed in a trial: these were to be left out.
  add(session) {
    if (!fixed || session.plan !== 'trial') this.pending.push(session);
  }

  run() {
    this.pending = this.pending.filter((session) => session.plan === 'trial');
  }
}

class Server {
  constructor() {
    this.sessions = new Map();
    this.billing = new Billing();
  }

  login(user) {
    const plan = ['basic', 'business', 'trial'][random(3)];
    this.sessions.set(user, new Session(user, plan));
  }

  logout(user) {
    const session = this.sessions.get(user);
    session.open = false;
    if (session.requests > 25) this.billing.add(session);
    this.sessions.delete(user);
  }
}

globalThis.server = new Server();
let users = 0;
for (let hour = 0; hour < 8; hour++) {
  for (let i = 0; i < 100; i++) server.login(users++);
  for (const session of server.sessions.values()) {
    for (let visits = random(50); visits > 0; visits--) session.visit(`/article/${random(200)}`);
  }
  // Some stay longer than others.
  for (const user of [...server.sessions.keys()].slice(0, -30)) server.logout(user);
  server.billing.run();
}
v8.writeHeapSnapshot(`${fixed ? 'fixed' : 'sessions'}.heapsnapshot`, { exposeNumericValues: true });
