import { expect, test } from 'bun:test'
import { createDoor } from '../../kernel/http/own-host.ts'
import type { McpIncoming } from './exchange.ts'
import { requireOwnOrigin } from './origin.ts'

const refuses = (host: string, publicBaseUrl: string) => {
  const header = (name: string) => (name === 'host' ? host : null)
  try {
    requireOwnOrigin({ header } as McpIncoming, {
      door: createDoor(
        { hostname: 'localhost', publicBaseUrl, allowedHosts: undefined },
        new AbortController().signal,
      ),
      registry: undefined,
    })
    return false
  } catch {
    return true
  }
}

test.each([
  ['https://gw.example.com', 'gw.example.com', false],
  ['https://gw.example.com', 'GW.example.com:443', false],
  ['https://gw.example.com', 'gw.example.com:80', true],
  ['http://gw.example.com', 'gw.example.com:80', false],
  ['https://gw.example.com:8443', 'gw.example.com:8443', false],
  ['https://gw.example.com:8443', 'gw.example.com:443', true],
  ['https://gw.example.com', 'x.gw.example.com:443', true],
])('behind %s the host %s is refused: %p', (publicBaseUrl, host, refused) => {
  expect(refuses(host, publicBaseUrl)).toBe(refused)
})
