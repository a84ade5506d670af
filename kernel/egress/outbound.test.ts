import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { createServer, type Server, type Socket } from 'node:net'
import { addressTricks, resolveHostile } from '../../test/harness/address-tricks.ts'
import { type AddressPolicy, OutboundError, type OutboundRequest } from '../plugin/index.ts'
import { createGate, type GateOptions } from './gate.ts'
import { createOutbound } from './outbound.ts'

const nowhere: AddressPolicy = { allowPrivate: false, allowedCidrs: [] }
const anywhere: AddressPolicy = { allowPrivate: true, allowedCidrs: [] }

let upstream: Server
let port = 0
let connections = 0
let answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
/** The data of the last connection. */
let received = ''
const sockets = new Set<Socket>()

beforeAll(async () => {
  upstream = createServer((socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      received = bytes.toString('latin1')
      if (answer !== '') socket.write(answer)
    })
  })
  await new Promise<void>((ready) => upstream.listen(0, '127.0.0.1', ready))
  port = (upstream.address() as { port: number }).port
})
afterAll(() => {
  for (const socket of sockets) socket.destroy()
  upstream.close()
})

function request(policy: AddressPolicy, rest: Partial<OutboundRequest> = {}): OutboundRequest {
  const signal = new AbortController().signal
  return {
    method: 'POST',
    headers: {},
    body: '{}',
    policy,
    headersTimeoutMs: 2000,
    signal,
    ...rest,
  }
}

const outboundOf = (options: GateOptions) => createOutbound(createGate(options))

async function faultOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'none'
  } catch (error) {
    if (error instanceof OutboundError) return error.fault
    throw error
  }
}

const withPort = (url: string) => url.replaceAll('{port}', String(port))

test('there are enough tricks', () => {
  expect(addressTricks.length).toBeGreaterThanOrEqual(60)
  expect(new Set(addressTricks.map(({ url }) => url)).size).toBe(addressTricks.length)
})

test('no trick leads anywhere, when it is checked and when it is called', async () => {
  const outbound = outboundOf({ resolve: resolveHostile })
  const before = connections
  for (const { url } of addressTricks) {
    const checked = await faultOf(outbound.check(withPort(url), nowhere))
    const called = await faultOf(outbound.fetch(withPort(url), request(nowhere)))
    expect([url, checked]).not.toEqual([url, 'none'])
    expect([url, called]).toEqual([url, checked])
    expect(['address_refused', 'invalid_url']).toContain(checked)
  }
  expect(connections).toBe(before)
})

describe('where private networks are allowed', () => {
  for (const { url, whenAllowed } of addressTricks) {
    test(`${whenAllowed}: ${JSON.stringify(url)}`, async () => {
      const outbound = outboundOf({ resolve: resolveHostile })
      const fault = await faultOf(outbound.check(withPort(url), anywhere))
      if (whenAllowed === 'never') {
        expect(['address_refused', 'invalid_url']).toContain(fault)
        expect(await faultOf(outbound.fetch(withPort(url), request(anywhere)))).toBe(fault)
        return
      }
      expect(fault).toBe('none')
      if (whenAllowed !== 'loopback') return
      const response = await outbound.fetch(withPort(url), request(anywhere))
      expect([response.status, await response.text()]).toEqual([200, 'ok'])
      expect(received.toLowerCase()).toContain(`host: ${new URL(withPort(url)).host}`)
    })
  }
})

test('an allowed range permits itself and nothing else', async () => {
  const outbound = outboundOf({ resolve: resolveHostile })
  const of = (url: string, ...allowedCidrs: string[]) =>
    faultOf(outbound.check(url, { allowPrivate: false, allowedCidrs }))
  expect(await of('http://10.1.2.3/', '10.1.0.0/16')).toBe('none')
  expect(await of('http://10.2.2.3/', '10.1.0.0/16')).toBe('address_refused')
  expect(await of('http://[::ffff:10.1.2.3]/', '10.1.0.0/16')).toBe('none')
  expect(await of('http://[fd00::1]/', 'fd00::/8')).toBe('none')
  expect(await of('http://[fd00::1]/', '10.0.0.0/8')).toBe('address_refused')
  expect(await of('http://[64:ff9b::7f00:1]/', '64:ff9b::/96')).toBe('address_refused')
  expect(await of('http://[64:ff9b::5db8:d822]/', '64:ff9b::/96')).toBe('none')
  expect(await of('http://169.254.169.254/', '169.254.169.254/32')).toBe('none')
  expect(await of('http://93.184.216.34/')).toBe('none')
  expect(await of('http://[2606:2800:220:1::1]/')).toBe('none')
})

test('a name that changes its address between check and call reaches nothing', async () => {
  const answers = [['93.184.216.34'], ['127.0.0.1']]
  // Cached addresses were checked; the name is resolved again when its address fails.
  const outbound = outboundOf({ resolve: async () => answers.shift() ?? ['127.0.0.1'] })
  const url = `http://rebinding.test:${port}/`
  const before = connections
  expect(await faultOf(outbound.check(url, nowhere))).toBe('none')
  // The test runner blocks the network, so the public address is unreachable.
  expect(await faultOf(outbound.fetch(url, request(nowhere)))).toBe('transport')
  expect(await faultOf(outbound.fetch(url, request(nowhere)))).toBe('address_refused')
  expect(connections).toBe(before)
})

test('a cached address is checked for each policy', async () => {
  const outbound = outboundOf({ resolve: resolveHostile })
  const url = `http://loopback.test:${port}/`
  expect((await outbound.fetch(url, request(anywhere))).status).toBe(200)
  expect(await faultOf(outbound.fetch(url, request(nowhere)))).toBe('address_refused')
})

test('a redirect is a reply, and is not followed', async () => {
  answer = 'HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n'
  const outbound = outboundOf({ resolve: resolveHostile })
  const response = await outbound.fetch(`http://loopback.test:${port}/`, request(anywhere))
  expect(response.status).toBe(302)
  answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
})

test('tries the next address if one accepts no connection', async () => {
  const closed = createServer()
  await new Promise<void>((ready) => closed.listen(0, '127.0.0.2', ready))
  closed.close()
  const outbound = outboundOf({ resolve: async () => ['127.0.0.2', '127.0.0.1'] })
  const response = await outbound.fetch(`http://two.test:${port}/`, request(anywhere))
  expect(response.status).toBe(200)
})

test('the certificate must be for the name, not the address', async () => {
  const outbound = outboundOf({ resolve: async () => ['127.0.0.1'] })
  answer = ''
  const call = request(anywhere, { headersTimeoutMs: 300 })
  expect(await faultOf(outbound.fetch(`https://named.test:${port}/`, call))).toBe('timeout')
  expect(received).toContain('named.test')
  answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
})

test('a leaving caller, a silent server and an unanswered name lookup end a call', async () => {
  answer = ''
  const outbound = outboundOf({ resolve: resolveHostile })
  const url = `http://loopback.test:${port}/`
  const silent = request(anywhere, { headersTimeoutMs: 100 })
  expect(await faultOf(outbound.fetch(url, silent))).toBe('timeout')

  const { headersTimeoutMs, ...untimed } = request(anywhere)
  for (const call of [untimed, { ...untimed, headersTimeoutMs }]) {
    const caller = new AbortController()
    setTimeout(() => caller.abort('left'), 50)
    const left = outbound.fetch(url, { ...call, signal: caller.signal } as OutboundRequest)
    expect(await left.catch((error: unknown) => error)).toBe('left')
  }
  answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

  const deaf = outboundOf({ resolve: () => new Promise(() => {}), connectTimeoutMs: 100 })
  expect(await faultOf(deaf.check(url, anywhere))).toBe('timeout')
  expect(await faultOf(deaf.fetch(url, request(anywhere, { headersTimeoutMs: 100 })))).toBe(
    'timeout',
  )
  expect(await faultOf(outbound.check('http://unknown.test/', anywhere))).toBe('unresolvable')
})

/** Answers each connection on one address of this machine until it is closed. */
async function answerOn(host: string) {
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {})
    socket.on('data', () => socket.write(answer))
  })
  await new Promise<void>((ready) => server.listen(port, host, ready))
  return () => {
    server.close()
    for (const socket of open) socket.destroy()
  }
}

test('resolves a name again if its address accepts no more connections', async () => {
  const answers = [['127.0.0.2'], ['127.0.0.2'], ['127.0.0.1']]
  const outbound = outboundOf({ resolve: async () => answers.shift() ?? [] })
  const call = () => faultOf(outbound.fetch(`http://moved.test:${port}/`, request(anywhere)))
  expect(await call()).toBe('transport')
  const close = await answerOn('127.0.0.2')
  expect(await call()).toBe('none')
  expect(answers).toHaveLength(1)
  close()
  expect(await call()).toBe('transport')
  expect(await call()).toBe('none')
  expect(answers).toEqual([])
})

test('the time for the head of a reply is not that for its body', async () => {
  const pieces = ['HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nsl', 'ow']
  answer = pieces[0] as string
  const outbound = outboundOf({ resolve: resolveHostile })
  const call = request(anywhere, { headersTimeoutMs: 500 })
  const response = await outbound.fetch(`http://loopback.test:${port}/`, call)
  await Bun.sleep(700)
  for (const socket of sockets) if (!socket.destroyed) socket.write(pieces[1] as string)
  expect(await response.text()).toBe('slow')
  answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
})

test('retries a failed resolution at once, and a successful one after a while', async () => {
  const answers = [undefined, ['127.0.0.1'], ['10.1.2.3']]
  const outbound = outboundOf({
    async resolve() {
      const next = answers.shift()
      if (next === undefined) throw new Error('no such name')
      return next
    },
  })
  const local: AddressPolicy = { allowPrivate: false, allowedCidrs: ['127.0.0.0/8'] }
  const check = () => faultOf(outbound.check('http://new.test/', local))
  expect(await check()).toBe('unresolvable')
  expect([await check(), await check()]).toEqual(['none', 'none'])
  const now = performance.now() + 11_000
  const later = spyOn(performance, 'now').mockImplementation(() => now)
  expect(await check()).toBe('address_refused')
  later.mockRestore()
})
