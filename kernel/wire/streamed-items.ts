import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'

/** Event members with tool arguments. */
const WRITTEN = ['arguments', 'input', 'command'] as const
type Written = (typeof WRITTEN)[number]

/** `response.function_call_arguments.delta` and similar. */
const PIECE = /[._](arguments|input|command)\.delta$/

/** Texts by key: commands by their index, in any form that upstreams use for it. */
type Texts = Map<JsonValue | undefined, string>

interface Streamed {
  item: JsonObject
  isDone: boolean
  /** Arguments from separate events, in pieces and complete. */
  readonly pieces: Map<Written, Texts>
  readonly wholes: Map<Written, Texts>
}

/**
 * Collects the items of a response from its stream. Tool arguments can arrive in four forms, and
 * clients may use any: if they differ, the item is listed once per form.
 */
export function createStreamedItems() {
  const all: Streamed[] = []
  /** Some upstreams use one position for several items. */
  const places = new Map<JsonValue, Streamed[]>()

  function streamedAt(payload: JsonObject, type: JsonValue | undefined): Streamed | undefined {
    const { item, item_id } = payload
    const id = isJsonObject(item) ? item.id : item_id
    // Some upstreams omit the index, and sound events have none.
    const at = payload.output_index ?? id ?? null
    const here = places.get(at) ?? []
    const same = here.findLast((each) => id === undefined || each.item.id === id)
    if (!isJsonObject(item)) return same ?? here.at(-1)
    if (same !== undefined && !same.isDone && type !== 'response.output_item.added') {
      same.item = item
      return same
    }
    const streamed = { item, isDone: false, pieces: new Map(), wholes: new Map() }
    all.push(streamed)
    places.set(at, here)
    here.push(streamed)
    return streamed
  }

  return {
    take(payload: JsonObject, type: JsonValue | undefined): void {
      const streamed = streamedAt(payload, type)
      if (streamed === undefined) return
      if (type === 'response.output_item.done') streamed.isDone = true
      const { command_index, delta } = payload
      for (const name of WRITTEN) {
        const text = payload[name]
        if (typeof text === 'string')
          textsOf(streamed.wholes, name).set(name === 'command' ? command_index : text, text)
      }
      const name = typeof type === 'string' ? (PIECE.exec(type)?.[1] as Written) : undefined
      if (name === undefined || typeof delta !== 'string') return
      const texts = textsOf(streamed.pieces, name)
      const index = name === 'command' ? command_index : undefined
      texts.set(index, (texts.get(index) ?? '') + delta)
    },
    /** Finished items come first. */
    all(): JsonObject[] {
      const done = all.filter(({ isDone }) => isDone)
      return [...done, ...all.filter(({ isDone }) => !isDone)].flatMap(readings)
    },
  }
}

function textsOf(texts: Map<Written, Texts>, name: Written): Texts {
  const known = texts.get(name) ?? new Map()
  texts.set(name, known)
  return known
}

function readings({ item, isDone, pieces, wholes }: Streamed): readonly JsonObject[] {
  const known = new Map([[JSON.stringify(item), item]])
  for (const [name, texts] of [...pieces, ...wholes]) {
    for (const other of withTexts(item, name, [...texts.values()])) {
      known.set(JSON.stringify(other), other)
    }
  }
  const [first, ...others] = known.values()
  const isEmpty = WRITTEN.some((name) => item[name] === '')
  return isEmpty && !isDone && others.length > 0 ? others : [first as JsonObject, ...others]
}

/** A shell runs several commands; other texts are alternative readings. */
function withTexts(item: JsonObject, name: Written, texts: readonly string[]): JsonObject[] {
  if (name !== 'command') return texts.map((text) => ({ ...item, [name]: text }))
  const action = isJsonObject(item.action) ? item.action : {}
  return [{ ...item, action: { ...action, commands: [...texts] } }]
}
