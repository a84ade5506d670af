/** A service to try the check with: `bun stand-in.ts`. It blocks `forbidden` and masks `secret`. */
const server = Bun.serve({
  port: Number(process.env.PORT ?? 4011),
  async fetch(request) {
    if (request.headers.get('authorization') !== 'Bearer try-me') {
      return new Response('wrong key', { status: 401 })
    }
    const { text } = (await request.json()) as { text: string }
    if (text.includes('forbidden')) return Response.json({ verdict: 'block' })
    const masked = text.replaceAll('secret', '[masked]')
    return Response.json(
      masked === text ? { verdict: 'allow' } : { verdict: 'replace', text: masked },
    )
  },
})
process.stdout.write(`stand-in listening on ${server.url}\n`)
