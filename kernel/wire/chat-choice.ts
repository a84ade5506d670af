import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'
import { saysNothing } from './is-present.ts'

/** A tool call of a streamed choice. */
interface Call {
  /** The index under which the caller reads all of its pieces. */
  readonly index: number
  id: string | undefined
  /** The id that was made because the upstream's did not come with the name; its own is left out then. */
  own?: string
}

/** The pieces of tool calls in one delta, as the caller reads them. */
export interface PlacedPieces {
  readonly pieces: readonly JsonValue[]
  /** How many calls began with them. */
  readonly begun: number
  /** Pieces that look like these may belong to another call. */
  readonly ambiguous: boolean
}

/**
 * Gives the pieces of the tool calls of one choice the index of their call. Some upstreams leave it
 * out, or give all calls the same one and tell them apart by id.
 */
export function createCallPlaces(): (fragments: readonly JsonValue[]) => PlacedPieces {
  /** The last call at each index of the upstream, and each call by that index and its id. */
  const lastAt = new Map<number, Call>()
  const named = new Map<string, Call>()
  /** Indexes of the upstream that several calls have had. */
  const shared = new Set<number>()
  const taken = new Set<number>()
  const told = new Set<Call>()

  function callAt(slot: number, id: string | undefined, name: string): Call {
    const last = lastAt.get(slot)
    // The first id may come late; a second one is a second call.
    const isLast = id === undefined || (last !== undefined && last.id === undefined)
    const known = isLast ? last : named.get(name)
    if (last !== undefined && known !== last) shared.add(slot)
    if (known !== undefined) return known
    let index = slot
    while (taken.has(index)) index++
    taken.add(index)
    return { index, id: undefined }
  }

  return (fragments) => {
    const before = taken.size
    let ambiguous = false
    let changed = false
    const pieces = fragments.map((came, position) => {
      if (!isJsonObject(came)) return came
      const fragment = typeof came.id === 'number' ? { ...came, id: String(came.id) } : came
      const slot = isIndex(fragment.index) ? fragment.index : position
      const id = typeof fragment.id === 'string' && fragment.id !== '' ? fragment.id : undefined
      const name = `${isIndex(fragment.index) ? slot : ''} ${id}`
      const call = callAt(slot, id, name)
      lastAt.set(slot, call)
      if (id !== undefined) {
        call.id ??= id
        named.set(name, call)
      }
      if (shared.has(slot)) ambiguous = true
      const piece = exactPiece(fragment, call, !told.has(call))
      told.add(call)
      if (piece !== came) changed = true
      return piece
    })
    return { pieces: changed ? pieces : fragments, begun: taken.size - before, ambiguous }
  }
}

/**
 * The delta without members that say nothing where clients expect something, and with the role where the
 * choice begins: the helpers of official clients throw for one that has none in the end.
 */
export function exactDelta(delta: JsonObject, begins: boolean): JsonObject {
  const exact = without(delta, ['role', 'tool_calls', 'function_call'], saysNothing)
  return begins && exact.role === undefined ? { role: 'assistant', ...exact } : exact
}

function isIndex(value: JsonValue | undefined): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** Of the first piece of a call the helpers of official clients want the type, of others no other name. */
function exactPiece(fragment: JsonObject, call: Call, begins: boolean): JsonObject {
  const { index, own } = call
  const said = without(fragment, ['id', 'type', 'function'], (value) => !value)
  const piece = own === undefined ? said : without(said, ['id'], () => true)
  const called = isJsonObject(piece.function) ? exactFunction(piece.function) : undefined
  // Clients want the id with the name, and answer by it: anomalyco/opencode#47954.
  const isNamed = called?.name !== undefined
  if (isNamed && call.id === undefined) call.own ??= `call_${crypto.randomUUID()}`
  const changes = {
    ...(call.own !== own && { id: call.own }),
    ...(piece.index !== index && { index }),
    ...(called !== undefined && begins && piece.type === undefined && { type: 'function' }),
    ...(called !== piece.function && called !== undefined && { function: called }),
  }
  return Object.keys(changes).length === 0 ? piece : { ...piece, ...changes }
}

/** Some upstreams give the arguments as the object itself. */
function exactFunction(called: JsonObject): JsonObject {
  const named = without(called, ['name'], (value) => !value)
  const exact = without(named, ['arguments'], (value) => value === null)
  return isJsonObject(exact.arguments)
    ? { ...exact, arguments: JSON.stringify(exact.arguments) }
    : exact
}

/** The same object when it has none of these members that fit. */
function without(
  members: JsonObject,
  names: readonly string[],
  fits: (value: JsonValue | undefined) => boolean,
): JsonObject {
  const isGone = (name: string) => name in members && fits(members[name])
  if (!names.some(isGone)) return members
  const kept = Object.entries(members).filter(([name]) => !names.includes(name) || !isGone(name))
  return Object.fromEntries(kept)
}
