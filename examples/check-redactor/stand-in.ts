/**
 * A mock service to try the check with: `bun stand-in.ts`. Masks addresses, blocks card numbers.
 */
import { isSigned } from './src/signature.ts'

const patterns = [
  { label: 'email', action: 'mask', pattern: /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g },
  { label: 'card_number', action: 'block', pattern: /\b\d{4}(?: ?\d{4}){3}\b/g },
]

const server = Bun.serve({
  port: Number(process.env.PORT ?? 4011),
  async fetch(request) {
    const body = await request.text()
    const time = Number(request.headers.get('x-redactor-time'))
    const signature = request.headers.get('x-redactor-signature') ?? ''
    const isKnown = request.headers.get('x-redactor-key') === 'demo'
    if (!isKnown || !isSigned({ time, body }, signature, 'try-me', Date.now() / 1000)) {
      return new Response('not signed', { status: 401 })
    }
    const { text } = JSON.parse(body) as { text: string }
    const characters = (upTo: number) => [...text.slice(0, upTo)].length
    const findings = patterns.flatMap(({ label, action, pattern }) =>
      [...text.matchAll(pattern)].map(({ index, 0: found }) => ({
        label,
        action,
        from: characters(index),
        to: characters(index + found.length),
      })),
    )
    return Response.json({ findings })
  },
})
process.stdout.write(`the stand-in listens on ${server.url}\n`)
