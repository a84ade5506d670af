/** A model that works with the tools that an agent offers, whatever API it is asked over. */
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ReplyOptions } from '../harness/upstream.ts'

interface Tool {
  readonly name: string
  readonly schema: JsonObject
}

/** What a request says, in whatever API. */
interface Heard {
  readonly tools: readonly Tool[]
  /** What the tools gave so far, as JSON texts. */
  readonly results: readonly string[]
}

/** The tool by which each agent runs a shell command. */
const SHELLS = ['Bash', 'bash', 'exec_command', 'shell_command', 'shell', 'run_shell_command']

/** The files whose texts the model asks for, one after the other. */
export const FILES = ['first.txt', 'second.txt'] as const

const MARKER = /marker-[0-9a-f]{8}/g

/** What the model says in the end when it has read files with these texts. */
export const conclusion = (markers: readonly string[]) => `The files say ${markers.join(' and ')}.`

/** What Qwen Code's shell says when it has lost what a quick command printed; then the file is read again. */
const LOST = 'Output: (empty)'
const MOST_READS = 4

/** Reads one file with each call of the agent's shell; then says what was in them. */
export function readsFiles(body: JsonObject): ReplyOptions {
  const { tools, results } = hear(body)
  const shell = SHELLS.flatMap((name) => tools.find((tool) => tool.name === name) ?? [])[0]
  if (shell === undefined) return withoutTools(JSON.stringify(body))
  const turn = `_${results.length}`
  const markers = results
    .filter((result) => !result.includes(LOST))
    .map((result) => result.match(MARKER)?.[0] ?? 'nothing')
  const file = FILES[markers.length]
  if (file === undefined || results.length > MOST_READS) return { text: conclusion(markers), turn }
  const input = JSON.stringify(argumentsFor(shell.schema, `cat ${file}`))
  return {
    turn,
    reasoning: `I read ${file}.`,
    call: {
      id: `call${turn}`,
      name: shell.name,
      pieces: [input.slice(0, 7), input.slice(7)],
    },
  }
}

/** aider has no tools: it reads edits in the text, and sends what its test command printed. */
function withoutTools(request: string): ReplyOptions {
  const asBlocks = request.includes('SEARCH/REPLACE')
  // Agents ask for titles and the like beside their work.
  if (!asBlocks && !request.includes('file listing')) return { text: 'Reading files' }
  const markers = [...new Set(request.match(MARKER))]
  if (markers.length === FILES.length) return { text: conclusion(markers) }
  const notes = markers.join()
  const edit = asBlocks ? `<<<<<<< SEARCH\n=======\n${notes}\n>>>>>>> REPLACE` : notes
  return { text: `notes.txt\n\`\`\`\n${edit}\n\`\`\`\n` }
}

function hear(body: JsonObject): Heard {
  const tools: Tool[] = []
  const results: string[] = []
  visit(body, (part) => {
    const tool = toolOf(part)
    if (tool !== undefined) tools.push(tool)
    if (isResult(part)) results.push(JSON.stringify(part))
  })
  return { tools, results }
}

/** Chat, responses, messages, Converse and Google write the same in their own ways. */
function toolOf(part: JsonObject): Tool | undefined {
  const schema =
    part.parameters ??
    part.input_schema ??
    part.parametersJsonSchema ??
    (isJsonObject(part.inputSchema) ? part.inputSchema.json : undefined)
  if (typeof part.name !== 'string' || !isJsonObject(schema)) return undefined
  return { name: part.name, schema }
}

function isResult({ role, type, toolResult, functionResponse }: JsonObject): boolean {
  if (role === 'tool' || type === 'tool_result' || type === 'function_call_output') return true
  return isJsonObject(toolResult) || isJsonObject(functionResponse)
}

function visit(value: JsonValue | undefined, take: (part: JsonObject) => void): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(item, take)
  } else if (isJsonObject(value)) {
    take(value)
    for (const item of Object.values(value)) visit(item, take)
  }
}

/** All that the schema requires, with the command in its place. */
function argumentsFor({ properties, required }: JsonObject, command: string): JsonObject {
  const input: JsonObject = {}
  for (const [name, schema] of Object.entries(isJsonObject(properties) ? properties : {})) {
    const type = isJsonObject(schema) ? schema.type : undefined
    if (name === 'command' || name === 'cmd') {
      input[name] = type === 'array' ? ['sh', '-c', command] : command
    } else if (Array.isArray(required) && required.includes(name)) {
      input[name] = type === 'boolean' ? false : type === 'number' ? 10_000 : 'Reads a file'
    }
  }
  return input
}
