import { jscDescribe } from 'bun:jsc'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Assignment, forEachChild, parse, type SyntaxNode } from 'unbash'
import { assignedValue, eachChild } from '../command-assignment.ts'
import { readText } from '../command-reader.ts'

/**
 * Reads texts until the engine has compiled the parser for them, and prints which words of an ordinary script
 * then stand at a floating-point number, and which values are not those that the parser gives itself. Both
 * change what the engine makes of the parser, so this is a program of its own. Texts come as JSON by stdin.
 */
const texts: readonly string[] = JSON.parse(await Bun.stdin.text())
const script = readFileSync(join(import.meta.dir, 'two-kib.sh'), 'utf8')

for (let i = 0; i < 2000; i++) readText(script)
for (let i = 0; i < 3; i++) readText('x=rm;'.repeat(10_000))
for (let i = 0; i < 20; i++) for (const text of texts) readText(text)
for (let i = 0; i < 2000; i++) readText(script)

const places: string[] = []
visit(parse(script), (node) => {
  const place = 'pos' in node ? node.pos : 0
  if (jscDescribe(place).startsWith('Double')) places.push(`${node.type} at ${place}`)
})

const differences: string[] = []
let compared = 0
for (const text of texts) {
  visit(parse(text), (node) => {
    if (node.type !== 'Assignment') return
    compared++
    if (meaning(assignedValue(node)) !== meaning(node.value)) differences.push(text)
  })
}
console.log(JSON.stringify({ places, differences, compared }))

function visit(node: SyntaxNode, see: (node: SyntaxNode) => void): void {
  see(node)
  eachChild(node, (child) => visit(child, see))
}

/** All but the places, which are those of another text. */
function meaning(value: Assignment['value']): string {
  const children: string[] = []
  if (value.type === 'Word') children.push(value.value, JSON.stringify(value.parts ?? null))
  forEachChild(value, (child) => void children.push(JSON.stringify(child)))
  const text = value.type === 'Word' ? value.text : ''
  return JSON.stringify([value.type, text, children]).replaceAll(
    /\\*"\w*(pos|end|Pos|End)\\*":\d+/g,
    '',
  )
}
