import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'
import { saysNothing } from './is-present.ts'

/** A tool call of a streamed choice. */
interface Call {
  /** The index that the caller sees for all its pieces. */
  readonly index: number
  id: string | undefined
  /** The generated id, if the upstream's came without the name; that one is dropped. */
  own?: string
}

/** The tool-call pieces of one delta, for the caller. */
export interface PlacedPieces {
  readonly pieces: readonly JsonValue[]
  /** How many calls began in this delta. */
  readonly begun: number
  /** Similar pieces may belong to another call. */
  readonly ambiguous: boolean
}

/**
 * Gives the tool-call pieces of one choice the index of their call. Some upstreams omit it, or use
 * the same index for all calls and distinguish them by id.
 */
export function createCallPlaces(): (fragments: readonly JsonValue[]) => PlacedPieces {
  /** The last call per upstream index, and each call by index and id. */
  const lastAt = new Map<number, Call>()
  const named = new Map<string, Call>()
  /** Upstream indexes that several calls used. */
  const shared = new Set<number>()
  const taken = new Set<number>()
  const told = new Set<Call>()

  function callAt(slot: number, id: string | undefined, name: string): Call {
    const last = lastAt.get(slot)
    // The first id may come late; a second id starts a new call.
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
 * Returns the delta without empty members, and with the role in the first one, because helpers of
 * official clients throw for a choice without a role.
 */
export function exactDelta(delta: JsonObject, begins: boolean): JsonObject {
  const exact = without(delta, ['role', 'tool_calls', 'function_call'], saysNothing)
  return begins && exact.role === undefined ? { role: 'assistant', ...exact } : exact
}

function isIndex(value: JsonValue | undefined): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** Helpers of official clients need the type in a call's first piece, and no other name later. */
function exactPiece(fragment: JsonObject, call: Call, begins: boolean): JsonObject {
  const { index, own } = call
  const said = without(fragment, ['id', 'type', 'function'], (value) => !value)
  const piece = own === undefined ? said : without(said, ['id'], () => true)
  const called = isJsonObject(piece.function) ? exactFunction(piece.function) : undefined
  // Clients need the id together with the name, and answer with it: anomalyco/opencode#47954.
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

/** Some upstreams send the arguments as an object instead of text. */
function exactFunction(called: JsonObject): JsonObject {
  const named = without(called, ['name'], (value) => !value)
  const exact = without(named, ['arguments'], (value) => value === null)
  return isJsonObject(exact.arguments)
    ? { ...exact, arguments: JSON.stringify(exact.arguments) }
    : exact
}

/** Returns the same object if it has none of these members with matching values. */
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
