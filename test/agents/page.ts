import { blocksOf } from '../harness/docs-page.ts'

/**
 * The commands for an agent that docs/clients.md has: the block that runs this command; of several
 * the one with this text in it.
 */
export function commandsFor(command: string, text = ''): string {
  const found = blocksOf('docs/clients.md').filter(
    (block) =>
      block.language === 'sh' &&
      new RegExp(`^${command} `, 'm').test(block.text) &&
      block.text.includes(text),
  )
  const [block] = found
  if (block === undefined || found.length > 1) {
    throw new Error(`docs/clients.md has ${found.length} blocks for ${command} ${text}`)
  }
  return block.text
}
