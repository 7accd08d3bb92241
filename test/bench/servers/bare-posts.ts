/**
 * The baseline of deliveries: a loop that posts the same body over undici, as many at once as are
 * asked for, and stores nothing. Takes URL, BODY, COUNT, AT_ONCE.
 */
import { Agent, request } from 'undici';

const { URL: url = '', BODY: body = '', COUNT, AT_ONCE } = process.env;
const atOnce = Number(AT_ONCE);
const dispatcher = new Agent({ connections: atOnce, pipelining: 1 });
let left = Number(COUNT);
const headers = {
  'content-type': 'application/json',
  'x-psp-event-id': 'evt_bench',
  'x-psp-signature': `t=1,v1=${'0'.repeat(64)},v2=${'0'.repeat(64)}`,
};
const began_ms = performance.now();
const work = async (): Promise<void> => {
  while (left-- > 0)
    await (await request(url, { dispatcher, method: 'POST', headers, body })).body.dump();
};
await Promise.all(Array.from({ length: atOnce }, work));
const { user, system } = process.cpuUsage();
process.send?.([performance.now() - began_ms, user + system]);
process.disconnect?.();
await dispatcher.close();
