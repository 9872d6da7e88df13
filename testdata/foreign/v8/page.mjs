// Writes the snapshot of a page in headless Chrome: node page.mjs chrome147-page.heapsnapshot
import chromium from '@sparticuz/chromium';
import fs from 'node:fs';
import puppeteer from 'puppeteer-core';

const browser = await puppeteer.launch({
  args: [...chromium.args, '--no-sandbox', '--disable-gpu'],
  executablePath: await chromium.executablePath(),
  headless: 'shell',
});
console.log(await browser.version());
const page = await browser.newPage();
await page.setContent(`<html><body><ul id=list></ul><div class="box">text</div></body></html>`);
await page.evaluate(() => {
  class Card { constructor(i, li) { this.i = i; this.li = li; this.onclick = () => this.i; li.addEventListener('click', this.onclick); } }
  window.cards = [];
  for (let i = 0; i < 200; i++) {
    const li = document.createElement('li'); li.id = 'card' + i; li.className = 'card'; li.innerHTML = '<span class="a">' + i + '</span><b>x</b>';
    document.getElementById('list').append(li);
    window.cards.push(new Card(i, li));
  }
  for (let i = 0; i < 100; i++) window.cards[i].li.remove();
  window.notes = new WeakMap(window.cards.map(c => [c, { note: c.i }]));
});
const client = await page.createCDPSession();
const out = fs.createWriteStream(process.argv[2]);
client.on('HeapProfiler.addHeapSnapshotChunk', ({chunk}) => out.write(chunk));
await client.send('HeapProfiler.startTrackingHeapObjects', {trackAllocations: true});
await page.evaluate(() => { window.traced = []; function make(n) { return {n, half: n / 2}; } for (let i = 0; i < 300; i++) window.traced.push(make(i)); });
await client.send('HeapProfiler.takeHeapSnapshot', {reportProgress: false});
await new Promise(resolve => out.end(resolve));
await browser.close();
