import { expect, test } from 'bun:test'
import { connect } from 'node:net'

test('nothing leaves the machine', async () => {
  const refusal = /may not reach the network/
  await expect(fetch('https://example.com/')).rejects.toThrow(refusal)
  await expect(fetch(new Request('http://10.0.0.1/'))).rejects.toThrow(refusal)
  await expect(fetch('http://127.0.0.1.example.com/')).rejects.toThrow(refusal)
  expect(() => connect({ host: '192.0.2.1', port: 80 })).toThrow(refusal)
  expect(() => connect(80, '192.0.2.1')).toThrow(refusal)
  expect(() => Bun.connect({ hostname: '192.0.2.1', port: 80, socket: { data() {} } })).toThrow(
    refusal,
  )
})

test('loopback stays open', async () => {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('here') })
  try {
    expect(await (await fetch(server.url)).text()).toBe('here')
    const socket = connect({ host: 'localhost', port: server.port as number })
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.destroy()
  } finally {
    await server.stop(true)
  }
})

test('no proxy variable is left in the environment', () => {
  expect(Object.keys(process.env).filter((name) => /_proxy$/i.test(name))).toEqual([])
})
