/** A vendor to try the provider with: `bun stand-in.ts`. */
const counts = { in: 5, out: 4 }

const server = Bun.serve({
  port: Number(process.env.PORT ?? 4011),
  async fetch(request) {
    if (request.headers.get('x-vendor-key') !== 'try-me') {
      return Response.json({ error: 'wrong key' }, { status: 401 })
    }
    const { prompt, stream } = (await request.json()) as {
      prompt: { text: string }[]
      stream: boolean
    }
    const text = `You said: ${prompt.at(-1)?.text}`
    if (!stream) return Response.json({ text, finish: 'end', counts })
    const lines = [
      ...text.split(/(?<= )/).map((word) => ({ text: word })),
      { finish: 'end', counts },
    ]
    return new Response(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  },
})
process.stdout.write(`stand-in listening on ${server.url}\n`)
