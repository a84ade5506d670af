import { createHash } from 'node:crypto'
import { GatewayError, isJsonObject, type JsonObject } from 'model-gateway/plugin'
import { type Document, isMap, isSeq, parseDocument, stringify, type YAMLSeq } from 'yaml'

export type Section = 'providers' | 'models'

const HEAD = ` Providers and models that were added in the console or through the admin API. They are added to
 the config file next to this one. Changes by hand are kept; SIGHUP applies them.`

/** Long texts stay on one line. */
const UNFOLDED = { lineWidth: 0 }

/** Identifies a content of the managed file. */
export function revisionOf(text: string | undefined): string {
  if (text === undefined) return 'none'
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** The entries of a section that are maps. */
export function entriesOf(text: string | undefined, section: Section): readonly JsonObject[] {
  const doc = parseDocument(text ?? '')
  const data: unknown = doc.errors.length > 0 ? undefined : doc.toJS()
  const list = isJsonObject(data) ? data[section] : undefined
  return Array.isArray(list) ? list.filter(isJsonObject) : []
}

/** One entry as YAML, to copy into a config file. */
export function yamlOf(section: Section, entry: JsonObject): string {
  return stringify({ [section]: [entry] }, UNFOLDED)
}

/**
 * The text with one more entry at the end of its section. Throws `conflict` for an invalid file.
 */
export function withEntry(text: string | undefined, section: Section, entry: JsonObject): string {
  const doc = open(text)
  const list = listOf(doc, section)
  if (list === undefined) doc.set(section, doc.createNode([entry]))
  else list.add(doc.createNode(entry))
  return doc.toString(UNFOLDED)
}

/** The text without an entry; undefined if the section has no such id. Throws `conflict`. */
export function withoutEntry(text: string | undefined, section: Section, id: string) {
  const doc = open(text)
  const list = listOf(doc, section)
  const at = list?.items.findIndex((item) => isMap(item) && String(item.get('id')) === id) ?? -1
  if (list === undefined || at === -1) return undefined
  list.delete(at)
  if (list.items.length === 0) doc.delete(section)
  return doc.toString(UNFOLDED)
}

/** The index of the entry with this id in its section. */
export function indexOf(text: string, section: Section, id: unknown): number {
  return entriesOf(text, section).findLastIndex((entry) => entry.id === id)
}

function open(text: string | undefined): Document {
  const doc = parseDocument(text ?? '')
  if (doc.errors.length > 0 || !(doc.contents === null || isMap(doc.contents))) {
    throw new GatewayError(
      'conflict',
      'the managed file is not a YAML map of sections: correct or remove it',
    )
  }
  if (text === undefined) doc.commentBefore = HEAD
  return doc
}

function listOf(doc: Document, section: Section): YAMLSeq | undefined {
  const list = doc.get(section)
  return isSeq(list) ? list : undefined
}
