import { normalName } from './sensitive-names.ts'

/** Top-level members of a wrapped payload, with which a path can start. */
const roots = ['headers', 'body', 'stream', 'events', 'usage', 'error', '*']

/** A node in the tree of configured paths. */
export interface PathNode {
  readonly named: Map<string, PathNode>
  any: PathNode | undefined
  /** A path ends here: the value is redacted. */
  ends: boolean
}

/** `[0]`, `[*]`, `[]` or `["key"]`. */
const BRACKETS = /\[["']?([^\]"']*)["']?\]/g

/** What is wrong with a redaction path, and how to fix it; undefined if it is valid. */
export function pathFault(path: string): { message: string; hint: string } | undefined {
  if (/[[\]]/.test(path)) {
    const dotted = path.replace(BRACKETS, (_, key) => `.${key || '*'}`).replace(/^\$?\./, '')
    return { message: 'has a key or an index in brackets', hint: `write ${dotted}` }
  }
  const segments = path.split('.')
  if (segments.some((segment) => segment.trim() !== segment || segment === '')) {
    return {
      message: 'has an empty segment, or spaces around a segment',
      hint: 'separate keys by single dots, such as body.messages.*.content',
    }
  }
  if (segments.some((segment) => segment !== '*' && segment.includes('*'))) {
    return {
      message: 'has a * within a segment',
      hint: '* matches a whole key or index: body.messages.*.content',
    }
  }
  if (!roots.includes(segments[0] as string)) {
    return {
      message: `begins with ${segments[0]}, which is not a part of logged payloads`,
      hint: `start with one of ${roots.slice(0, -1).join(', ')}: body.messages.*.content`,
    }
  }
  return undefined
}

/** Paths as a tree; undefined without paths. */
export function compilePaths(paths: readonly string[]): PathNode | undefined {
  if (paths.length === 0) return undefined
  const root = pathNode()
  for (const path of paths) {
    let node = root
    for (const segment of path.split('.')) node = childOf(node, segment)
    node.ends = true
  }
  return root
}

/** The child nodes for a key; undefined if no path continues with it. */
export function followPaths(
  nodes: readonly PathNode[],
  key: string,
): readonly PathNode[] | undefined {
  const name = normalName(key)
  let next: PathNode[] | undefined
  for (const { named, any } of nodes) {
    const exact = named.get(name)
    if (exact !== undefined) next = [...(next ?? []), exact]
    if (any !== undefined) next = [...(next ?? []), any]
  }
  return next
}

function pathNode(): PathNode {
  return { named: new Map(), any: undefined, ends: false }
}

function childOf(node: PathNode, segment: string): PathNode {
  if (segment === '*') {
    node.any ??= pathNode()
    return node.any
  }
  const name = normalName(segment)
  const child = node.named.get(name) ?? pathNode()
  node.named.set(name, child)
  return child
}
