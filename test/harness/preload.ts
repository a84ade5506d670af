/**
 * Preloaded by the test runner: no test reaches the real network. Whatever wants to leave the
 * machine throws, so that a test cannot pass or fail because of somebody else's server.
 */
import { Socket } from 'node:net'

for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY']) {
  delete process.env[name]
  delete process.env[name.toLowerCase()]
}

function refuse(host: string): void {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase()
  if (name === 'localhost' || name === '::1' || name === '::ffff:127.0.0.1') return
  if (name === '0.0.0.0' || /^127(\.\d{1,3}){3}$/.test(name)) return
  throw new Error(`tests may not reach the network, and this one wants to talk to ${host}`)
}

const realFetch = globalThis.fetch
const guardedFetch = async (
  input: string | URL | Request,
  init?: RequestInit | BunFetchRequestInit,
) => {
  const url = new URL(input instanceof Request ? input.url : input)
  // A unix socket does not leave the machine; data: and blob: URLs have no host.
  const local = init !== undefined && 'unix' in init && init.unix !== undefined
  if (url.hostname !== '' && !local) refuse(url.hostname)
  return realFetch(input, init)
}
globalThis.fetch = Object.assign(guardedFetch, { preconnect: realFetch.preconnect })

const realConnect = Socket.prototype.connect
Socket.prototype.connect = function (this: Socket, ...args: unknown[]): Socket {
  // The public forms: (options), (port, host?), (path); and the array that net.connect passes on.
  const [first, second] = Array.isArray(args[0]) ? args[0] : args
  if (typeof first === 'object' && first !== null) {
    const { host, path } = first as { host?: unknown; path?: unknown }
    if (typeof path !== 'string') refuse(typeof host === 'string' ? host : 'localhost')
  } else if (typeof first === 'number') {
    refuse(typeof second === 'string' ? second : 'localhost')
  }
  return Reflect.apply(realConnect, this, args) as Socket
}

const realBunConnect = Bun.connect
Bun.connect = ((options: { hostname?: string }) => {
  if (options.hostname !== undefined) refuse(options.hostname)
  return Reflect.apply(realBunConnect, Bun, [options])
}) as typeof Bun.connect
