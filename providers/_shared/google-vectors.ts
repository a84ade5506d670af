import { isJsonObject, type JsonValue } from 'model-gateway/plugin'
import { malformedReply } from './malformed-reply.ts'

/** `values` of an embedding. Throws GatewayError `upstream_transport` unless it has numbers. */
export function vectorOf(embedding: JsonValue | undefined): JsonValue[] {
  const found = listOf(isJsonObject(embedding) ? embedding.values : undefined)
  if (found.length > 0 && found.every((value) => typeof value === 'number')) return found
  throw malformedReply('an embedding without numbers')
}

/** Throws GatewayError `upstream_transport` for anything but a list. */
export function listOf(value: JsonValue | undefined): JsonValue[] {
  if (Array.isArray(value)) return value
  throw malformedReply('the list of embeddings is missing')
}

/** A whole number of tokens; undefined otherwise. */
export function countOf(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

/** Throws GatewayError `upstream_transport` if the number of embeddings is wrong. */
export function checkNumber(vectors: readonly unknown[], expected: number): void {
  if (vectors.length === expected) return
  throw malformedReply(`${vectors.length} embeddings for ${expected} texts`)
}
