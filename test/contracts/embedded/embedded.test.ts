import { Client } from 'pg';
describe('x', () => {
  it('y', async () => {
    const c = new Client(process.env['TEST_DATABASE_URL']);
    await c.connect();
    await c.end();
  });
});
