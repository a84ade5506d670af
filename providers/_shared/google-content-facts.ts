import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'

/** Facts of a candidate other than its content: our name and the service's. */
const FACTS = [
  ['grounding_metadata', 'groundingMetadata'],
  ['url_context_metadata', 'urlContextMetadata'],
  ['citation_metadata', 'citationMetadata'],
  ['safety_ratings', 'safetyRatings'],
  ['finish_message', 'finishMessage'],
] as const

/** The facts that are present, unchanged; undefined if none is. */
export function readCandidateFacts(candidate: JsonObject): JsonObject | undefined {
  let facts: JsonObject | undefined
  for (const [name, theirs] of FACTS) {
    const value = candidate[theirs] ?? undefined
    // "Model generated function call(s)." says nothing beyond a normal end.
    const said = name !== 'finish_message' || candidate.finishReason !== 'STOP'
    if (value !== undefined && said) facts = { ...facts, [name]: value }
  }
  return facts
}

/** The sources of a text as `annotations`: text range and page. */
export function annotationsOf(facts: JsonObject, text: string): JsonObject[] {
  const { grounding_metadata: grounding, citation_metadata: citation } = facts
  if (grounding === undefined && citation === undefined) return []
  const said = { text, bytes: Buffer.from(text) }
  return [...groundings(grounding, said), ...citations(citation, said)]
}

interface Said {
  readonly text: string
  /** The same in UTF-8. */
  readonly bytes: Buffer
}

function groundings(metadata: JsonValue | undefined, said: Said): JsonObject[] {
  if (!isJsonObject(metadata)) return []
  const sources = listOf(metadata.groundingChunks).map((chunk) =>
    [chunk.web, chunk.retrievedContext, chunk.maps].find(isJsonObject),
  )
  const supports = listOf(metadata.groundingSupports).filter(({ segment }) => isJsonObject(segment))
  if (supports.length === 0) return sources.flatMap((source) => citation(source, 0, 0))
  return supports.flatMap(({ segment, groundingChunkIndices }) => {
    const [start, end] = placeOf(segment as JsonObject, said)
    const indices = Array.isArray(groundingChunkIndices) ? groundingChunkIndices : []
    return indices.flatMap((index) => citation(sources[Number(index)], start, end))
  })
}

function citations(metadata: JsonValue | undefined, said: Said): JsonObject[] {
  if (!isJsonObject(metadata)) return []
  return listOf(metadata.citations).flatMap((one) => citation(one, ...placeOf(one, said)))
}

function citation(source: JsonValue | undefined, start: number, end: number): JsonObject[] {
  if (!isJsonObject(source) || typeof source.uri !== 'string') return []
  const { uri, title } = source
  const url_citation = {
    url: uri,
    title: typeof title === 'string' ? title : uri,
    start_index: start,
    end_index: end,
  }
  return [{ type: 'url_citation', url_citation }]
}

/** Google counts bytes within a part. If the words are not there, all parts are searched. */
function placeOf(segment: JsonObject, { text, bytes }: Said): [start: number, end: number] {
  const unit = (at: JsonValue | undefined) =>
    bytes.toString('utf8', 0, typeof at === 'number' ? at : 0).length
  const start = unit(segment.startIndex)
  const end = unit(segment.endIndex)
  const { text: words } = segment
  if (typeof words !== 'string' || text.slice(start, end) === words) return [start, end]
  const at = text.indexOf(words)
  return at === -1 ? [0, 0] : [at, at + words.length]
}

function listOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}
