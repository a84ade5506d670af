/** A mock vendor to try the provider with: `bun stand-in.ts`. Project demo, key try-me. */
interface Request {
  readonly turns: readonly { readonly parts: readonly { readonly text?: string }[] }[]
  readonly flow: boolean
  readonly actions?: readonly { readonly name: string }[]
  readonly act?: unknown
}

const meter = { fresh: 7, recalled: 3, written: 5, thought: 1 }

const server = Bun.serve({
  port: Number(process.env.PORT ?? 4011),
  async fetch(request) {
    if (request.headers.get('authorization') !== 'Brook demo:try-me') {
      return Response.json({ fault: { words: 'wrong key' } }, { status: 401 })
    }
    const { turns, flow, actions = [], act } = (await request.json()) as Request
    const said = turns.at(-1)?.parts.at(-1)?.text ?? ''
    if (said === 'too much') {
      return Response.json({ fault: { words: 'slow down', again_in: 2.5 } }, { status: 429 })
    }
    const action = act === 'must' ? actions[0]?.name : undefined
    const ended = action === undefined ? 'done' : 'act'
    const text = `You said: ${said}`
    if (!flow) {
      const part =
        action === undefined
          ? { kind: 'say', text }
          : { kind: 'act', call: 'c1', action, input: { said } }
      return Response.json({ turn: { parts: [part] }, ended, meter })
    }
    const answer =
      action === undefined
        ? text.split(/(?<= )/).map((say) => ({ say }))
        : [
            { act: { call: 'c1', action } },
            { input: { call: 'c1', piece: JSON.stringify({ said }) } },
          ]
    const lines = [{ beat: 1 }, ...answer, { end: { ended, meter } }]
    return new Response(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  },
})
process.stdout.write(`the stand-in listens on ${server.url}\n`)
