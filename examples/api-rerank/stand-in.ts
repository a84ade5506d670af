/**
 * A mock vendor to try the API with: `bun stand-in.ts`. Accepts the key try-me, and counts words.
 */
interface Request {
  readonly query: string
  readonly documents: readonly (string | { readonly text: string })[]
  readonly top_n?: number
}

const server = Bun.serve({
  port: Number(process.env.PORT ?? 4011),
  async fetch(request) {
    if (request.headers.get('authorization') !== 'Bearer try-me') {
      return Response.json({ message: 'wrong key' }, { status: 401 })
    }
    const { query, documents, top_n = documents.length } = (await request.json()) as Request
    if (query === 'too much') return Response.json({ message: 'slow down' }, { status: 429 })
    const wanted = query.toLowerCase().split(/\W+/)
    const results = documents.map((document, index) => {
      const words = (typeof document === 'string' ? document : document.text).toLowerCase()
      const found = wanted.filter((word) => words.includes(word)).length
      return { index, relevance_score: found / wanted.length }
    })
    return Response.json({
      id: crypto.randomUUID(),
      results: results.sort((a, b) => b.relevance_score - a.relevance_score).slice(0, top_n),
      // One unit for each hundred documents.
      meta: { billed_units: { search_units: Math.ceil(documents.length / 100) } },
    })
  },
})
process.stdout.write(`the stand-in listens on ${server.url}\n`)
