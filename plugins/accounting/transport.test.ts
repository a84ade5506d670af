import { afterAll, beforeAll, expect, test } from 'bun:test'
import { pino } from 'pino'
import { startMailServer } from './__fixtures__/mail-server.ts'
import { createMailTransport } from './transport.ts'

let server: Awaited<ReturnType<typeof startMailServer>>
beforeAll(async () => {
  server = await startMailServer()
})
afterAll(() => server.stop())

const send = (to: string) =>
  createMailTransport(
    {
      from: 'Gateway <gateway@example.com>',
      poll_interval_secs: 30,
      batch_size: 25,
      transport: 'smtp',
      smtp: { host: '127.0.0.1', port: server.port, starttls: false },
    },
    pino({ level: 'silent' }),
  ).send({ to, subject: 'Budget', text: 'little is left', messageId: '<1@model-gateway>' })

test.each([
  ['ada@example.com', 'ada@example.com'],
  ["o'neill+x@example.com", "o'neill+x@example.com"],
  ['ops,ada@example.com', '"ops,ada"@example.com'],
  ['(ops)ada@example.com', '"(ops)ada"@example.com'],
])('an email to %s goes to this address and not to a part of it', async (to, address) => {
  await send(to)
  expect(server.mails.splice(0)).toMatchObject([{ from: 'gateway@example.com', to: [address] }])
})
