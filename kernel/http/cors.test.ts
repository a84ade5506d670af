import { expect, test } from 'bun:test'
import { createCors } from './cors.ts'

const origin = 'https://app.example.com'

function replyOf(settings: Parameters<typeof createCors>[0], reply: Response) {
  createCors(settings).open(new Request('http://localhost/x', { headers: { origin } }), reply)
  return reply.headers
}

test('all origins are answered without a name', () => {
  const headers = replyOf(
    { origins: ['*'], headers: ['*'], credentials: false },
    new Response('x', { headers: { 'retry-after': '3', vary: 'accept' } }),
  )
  expect(headers.get('access-control-allow-origin')).toBe('*')
  expect(headers.get('access-control-expose-headers')).toContain('retry-after')
  expect(headers.get('vary')).toBe('accept, origin')
})

test('allows cookies only if configured, and never exposes set-cookie to pages', () => {
  const headers = replyOf(
    { origins: [origin], headers: ['*'], credentials: true },
    new Response('x', { headers: { 'set-cookie': 'a=1', 'x-gateway-dropped': 'store' } }),
  )
  expect(headers.get('access-control-allow-credentials')).toBe('true')
  expect(headers.get('access-control-expose-headers')?.split(', ')).not.toContain('set-cookie')
  expect(headers.get('access-control-expose-headers')).toContain('x-gateway-dropped')
})

test('pages may send the headers that the settings name', () => {
  const settings = { origins: [origin], headers: ['authorization', 'x-a'], credentials: false }
  const asks = new Request('http://localhost/x', {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'x-b',
    },
  })
  const reply = createCors(settings).preflight(asks)
  expect(reply?.headers.get('access-control-allow-headers')).toBe('authorization, x-a')
  const plain = new Request('http://localhost/x', { method: 'OPTIONS', headers: { origin } })
  expect(createCors(settings).preflight(plain)).toBeUndefined()
})
