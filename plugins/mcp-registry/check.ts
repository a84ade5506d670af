import ipaddr from 'ipaddr.js'
import { broughtTo, type ConfigDraft } from 'model-gateway/host'
import { type McpAuthProblem, mcpAuthModes } from 'model-gateway/mcp'
import type { ConfigPath, JsonObject, Problem } from 'model-gateway/plugin'
import { accessProblems } from './access.ts'
import { DEFAULT_AUTH_MODE, type DeclaredServer, type McpSettings } from './config.ts'
import { declarationProblems } from './declaration.ts'
import { scheduleProblem } from './schedule.ts'

type Loose<T> = { readonly [K in keyof T]?: T[K] | undefined }

/** Checks of the section `mcp` that the schema cannot express, including those of auth modes. */
export function* checkMcp(draft: ConfigDraft): Iterable<Problem> {
  const settings = (draft.section('mcp') ?? {}) as Loose<McpSettings>
  const keys = new Set<string>()
  for (const [i, server] of (
    (settings.servers ?? []) as Loose<McpSettings['servers'][number]>[]
  ).entries()) {
    const path = ['mcp', 'servers', i]
    const { server_key: key } = server
    if (key !== undefined && keys.has(key)) {
      yield { path: [...path, 'server_key'], message: `another server has the same key ${key}` }
    }
    if (key !== undefined) keys.add(key)
    for (const { field, message } of problemsOf(server, settings, draft)) {
      yield { path: [...path, ...field.split('.')], message }
    }
    for (const { field, message } of accessProblems(server)) {
      yield { path: [...path, field], message }
    }
    yield* checkThere(server.auth_mode ?? DEFAULT_AUTH_MODE, [...path, 'auth_mode'], draft)
  }
  for (const [i, cidr] of (settings.allowed_cidrs ?? []).entries()) {
    if (ipaddr.isValidCIDR(cidr)) continue
    yield {
      path: ['mcp', 'allowed_cidrs', i],
      message: 'is not an address range in CIDR notation',
      hint: 'write an address, a slash and a number of bits, such as 10.2.0.0/16',
    }
  }
  for (const [i, origin] of (settings.allowed_origins ?? []).entries()) {
    if (isOrigin(origin)) continue
    yield {
      path: ['mcp', 'allowed_origins', i],
      message: 'is not an origin',
      hint: 'write scheme and host, with a port if needed, such as https://app.example.com',
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

/** Skip fields that already have a problem. */
function problemsOf(
  { server_url, allow_private, ...server }: Loose<DeclaredServer>,
  { allow_private_networks }: Loose<McpSettings>,
  { declared }: ConfigDraft,
): Iterable<McpAuthProblem> {
  const { auth_mode, auth_config } = { auth_mode: DEFAULT_AUTH_MODE, auth_config: {}, ...server }
  const { partial } = declared
  const modes = broughtTo(mcpAuthModes, declared).map(({ spec }) => spec)
  const known = partial !== true || modes.some(({ mode }) => mode === auth_mode)
  return declarationProblems(
    {
      server_url,
      auth_mode: known ? auth_mode : undefined,
      auth_config: auth_config as JsonObject | undefined,
    },
    modes,
    { allowPrivate: allow_private_networks === true || allow_private === true },
  )
}

/**
 * The auth mode of a declared server must not come from a plugin that is disabled when it fails.
 */
function* checkThere(mode: string, path: ConfigPath, { declared }: ConfigDraft): Iterable<Problem> {
  for (const { spec, plugin, dispensable } of broughtTo(mcpAuthModes, declared)) {
    if (spec.mode !== mode || !dispensable) continue
    yield {
      path,
      message: `${mode} comes from plugin "${plugin}", which is disabled when it fails`,
      hint: `remove on_boot_failure: disable from the entry of "${plugin}"`,
    }
  }
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text
}
