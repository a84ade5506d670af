import type { Outbound } from 'model-gateway/http'
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { type Connection, type Endpoint, openConnection, type RpcReply } from './connection.ts'
import { DiscoveryFailure } from './failure.ts'
import { type DiscoveredTool, keptTexts, readTool } from './tool.ts'

/** Protocol versions with a handshake, newest first. */
const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']
/** The revision without one. */
const MODERN = '2026-07-28'

const METHOD_NOT_FOUND = -32601
/** Error codes of servers without a handshake: version, header, method. */
const REFUSED_AS_MODERN = new Set([-32022, -32020, METHOD_NOT_FOUND])

const MAX_PAGES = 100
/** Maximum size of all tools, which are kept in memory until they are written. */
const MAX_TOOL_CHARACTERS = 16 * 1024 * 1024

const clientInfo = { name: 'model-gateway', version: '1' }

export interface Discovery {
  readonly protocolVersion: string
  readonly tools: readonly DiscoveredTool[]
}

/** Lists the tools of a server, with either kind of protocol version. Throws DiscoveryFailure. */
export async function discover(
  outbound: Outbound,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<Discovery> {
  const connection = openConnection(outbound, endpoint, signal)
  const reply = await connection.request(
    'initialize',
    { protocolVersion: LEGACY[0] as string, capabilities: {}, clientInfo },
    {},
  )
  if (reply.errorCode !== undefined && REFUSED_AS_MODERN.has(reply.errorCode)) {
    return await discoverModern(connection)
  }
  const { protocolVersion, capabilities } = resultOf('initialize', reply)
  const session: Record<string, string> = {}
  if (reply.sessionId !== undefined) session['mcp-session-id'] = reply.sessionId
  try {
    if (typeof protocolVersion !== 'string' || !LEGACY.includes(protocolVersion)) {
      throw new DiscoveryFailure(
        'unsupported protocol: the gateway does not support any protocol version of the server',
      )
    }
    const headers = { ...session, 'mcp-protocol-version': protocolVersion }
    await connection.notify('notifications/initialized', headers)
    const request = (params: JsonObject) => connection.request('tools/list', params, headers)
    const tools = await listTools(capabilities, request)
    return { protocolVersion, tools }
  } finally {
    if (reply.sessionId !== undefined) {
      const version = typeof protocolVersion === 'string' ? protocolVersion : ''
      const known = LEGACY.includes(version) ? { 'mcp-protocol-version': version } : {}
      await connection.end({ ...session, ...known })
    }
  }
}

async function discoverModern(connection: Connection): Promise<Discovery> {
  const request = (method: string, params: JsonObject) =>
    connection.request(
      method,
      {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': MODERN,
          'io.modelcontextprotocol/clientInfo': clientInfo,
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
      { 'mcp-protocol-version': MODERN, 'mcp-method': method },
    )
  const reply = await request('server/discover', {})
  const { supportedVersions, capabilities } = resultOf('server/discover', reply)
  if (!Array.isArray(supportedVersions) || !supportedVersions.includes(MODERN)) {
    throw new DiscoveryFailure(
      'unsupported protocol: the gateway does not support any protocol version of the server',
    )
  }
  return {
    protocolVersion: MODERN,
    tools: await listTools(capabilities, (params) => request('tools/list', params)),
  }
}

async function listTools(
  capabilities: JsonValue | undefined,
  request: (params: JsonObject) => Promise<RpcReply>,
): Promise<DiscoveredTool[]> {
  const tools = new Map<string, DiscoveredTool>()
  /** As the server writes them. */
  const names = new Set<string>()
  const cursors = new Set<string>()
  let characters = 0
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const reply = await request(cursor === undefined ? {} : { cursor })
    // Ask even without the capability, because some servers with tools do not declare it.
    if (reply.errorCode === METHOD_NOT_FOUND && !declaresTools(capabilities)) return []
    const result = resultOf('tools/list', reply)
    if (!Array.isArray(result.tools)) {
      throw new DiscoveryFailure('invalid tools: tools/list was answered without a list of tools')
    }
    for (const entry of result.tools) {
      const tool = readTool(entry, tools.size + 1)
      // Some servers mark the end with an empty cursor, and start over if it is sent back.
      if (cursor === '' && entry === result.tools[0] && tools.has(tool.name)) {
        return [...tools.values()]
      }
      const { name: written } = entry as { readonly name: string }
      if (names.has(written))
        throw new DiscoveryFailure('invalid tools: two tools have the same name')
      names.add(written)
      if (tools.has(tool.name)) continue
      for (const text of keptTexts(tool)) characters += text.length
      if (characters > MAX_TOOL_CHARACTERS) {
        throw new DiscoveryFailure('invalid tools: the tools are larger than 16 MiB together')
      }
      tools.set(tool.name, tool)
    }
    const { nextCursor } = result
    if (nextCursor === undefined || nextCursor === null) return [...tools.values()]
    if (typeof nextCursor !== 'string' || cursors.has(nextCursor)) {
      throw new DiscoveryFailure('invalid pages: tools/list repeats a cursor')
    }
    cursors.add(nextCursor)
    cursor = nextCursor
  }
  throw new DiscoveryFailure(`invalid pages: tools/list has more than ${MAX_PAGES}`)
}

function declaresTools(capabilities: JsonValue | undefined): boolean {
  return isJsonObject(capabilities) && capabilities.tools !== undefined
}

function resultOf(method: string, { status, result, errorCode }: RpcReply): JsonObject {
  if (isJsonObject(result)) return result
  throw new DiscoveryFailure(
    `upstream error: ${method} was answered with JSON-RPC error ${errorCode} and status ${status}`,
    status,
  )
}
