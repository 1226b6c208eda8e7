import { conformance } from './conformance/conformance.js';

const url = process.env['EVENTSTORE_URL'];

if (url !== undefined && url !== '') {
  conformance(`the event store at ${new URL(url).host}`, async () => ({ url, stop: () => Promise.resolve() }));
} else {
  describe('an event store elsewhere', () => {
    it.todo('is tested when EVENTSTORE_URL names one');
  });
}
