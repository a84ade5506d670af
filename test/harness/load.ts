/** A process that sends one request many times at once; see `sendAtOnce`. */
import type { LoadRequest, LoadResult } from './process.ts'

const { url, headers, body, count } = (await Bun.stdin.json()) as LoadRequest
const text = JSON.stringify(body)
const statuses: Record<string, number> = {}

async function send(): Promise<void> {
  let status = 0
  try {
    const response = await fetch(url, { method: 'POST', headers, body: text })
    await response.text()
    status = response.status
  } catch {}
  statuses[status] = (statuses[status] ?? 0) + 1
}

await Promise.all(Array.from({ length: count }, send))
const result: LoadResult = { statuses }
console.log(JSON.stringify(result))
