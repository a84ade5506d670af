/** Path of the MCP server, the same at the upstream, the references and the gateway. */
export const MCP_PATH = '/mcp/tools'
/** The tool that the upstream of the bench answers with an event stream. */
export const EVENTS_TOOL = 'search_events'

/** A message to an MCP server, as clients send it. */
function rpc(method: string, params?: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
}

function callOf(tool: string): string {
  const query = 'What must a gateway never lose, and how would one find out?'
  return rpc('tools/call', { name: tool, arguments: { query, limit: 20, fields: ['title'] } })
}

export const pingBody = rpc('ping')
export const callBody = callOf('search')
export const eventsCallBody = callOf(EVENTS_TOOL)
