import ipaddr from 'ipaddr.js'
import { type ConfigDraft, outboundUrlProblem, type Problem } from 'model-gateway/plugin'
import type { McpSettings } from './config.ts'
import { scheduleProblem } from './schedule.ts'

type Loose<T> = { readonly [K in keyof T]?: T[K] | undefined }

/** What the schema of `mcp` cannot say. Auth modes judge their part when the gateway starts. */
export function* checkMcp(draft: ConfigDraft): Iterable<Problem> {
  const settings = (draft.section('mcp') ?? {}) as Loose<McpSettings>
  const keys = new Set<string>()
  for (const [i, server] of (
    (settings.servers ?? []) as Loose<McpSettings['servers'][number]>[]
  ).entries()) {
    const path = ['mcp', 'servers', i]
    const { server_key: key, server_url: url } = server
    if (key !== undefined && keys.has(key)) {
      yield { path: [...path, 'server_key'], message: `another server has the key ${key} too` }
    }
    if (key !== undefined) keys.add(key)
    const message = url === undefined ? undefined : outboundUrlProblem(url)
    if (message !== undefined) yield { path: [...path, 'server_url'], message }
  }
  for (const [i, cidr] of (settings.allowed_cidrs ?? []).entries()) {
    if (ipaddr.isValidCIDR(cidr)) continue
    yield {
      path: ['mcp', 'allowed_cidrs', i],
      message: 'is not a range of addresses',
      hint: 'write an address, a slash and a number of bits: 10.2.0.0/16',
    }
  }
  for (const [i, origin] of (settings.allowed_origins ?? []).entries()) {
    if (isOrigin(origin)) continue
    yield {
      path: ['mcp', 'allowed_origins', i],
      message: 'is not an origin',
      hint: 'write scheme and host, with a port where it needs one: https://app.example.com',
    }
  }
  const schedule = settings.discovery_schedule
  const message = schedule === undefined ? undefined : scheduleProblem(schedule)
  if (message !== undefined) {
    yield {
      path: ['mcp', 'discovery_schedule'],
      message,
      hint: 'write off, or five cron fields such as "0 3 * * *"',
    }
  }
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text
}
