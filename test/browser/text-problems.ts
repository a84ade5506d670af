/**
 * Runs inside the page. Finds texts that are cut off without an ellipsis, overlapping texts, and
 * IDs outside `<code>`, in the last open dialog or else on the page.
 */
export function textProblems(): string[] {
  const ID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/i
  const SLACK = 2
  const problems: string[] = []
  const start = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body
  const boxes: { text: string; owner: Element; rect: DOMRect }[] = []

  /** The visible part of a rectangle; undefined: nothing is visible. */
  function visiblePart(owner: Element, rect: DOMRect): DOMRect | undefined {
    let { left, top, right, bottom } = rect
    for (let at: Element | null = owner; at !== null; at = at.parentElement) {
      const style = getComputedStyle(at)
      if (style.visibility === 'hidden' || style.opacity === '0') return undefined
      if (style.clipPath !== 'none') return undefined
      if (style.overflow === 'visible') continue
      const box = at.getBoundingClientRect()
      left = Math.max(left, box.left)
      top = Math.max(top, box.top)
      right = Math.min(right, box.right)
      bottom = Math.min(bottom, box.bottom)
    }
    if (right - left < 1 || bottom - top < 1) return undefined
    return new DOMRect(left, top, right - left, bottom - top)
  }

  function checkClipped(owner: HTMLElement, text: string): void {
    const { overflowX, overflowY, textOverflow } = getComputedStyle(owner)
    const wide = owner.scrollWidth > owner.clientWidth + SLACK && overflowX === 'hidden'
    const tall = owner.scrollHeight > owner.clientHeight + 2 * SLACK && overflowY === 'hidden'
    if (wide && textOverflow !== 'ellipsis') problems.push(`cut off: ${text}`)
    if (tall) problems.push(`cut off below: ${text}`)
  }

  const walker = document.createTreeWalker(start, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = node.textContent?.trim() ?? ''
    const owner = node.parentElement
    if (text === '' || owner === null || owner.closest('script, style, option, title')) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    const rects = [...range.getClientRects()]
      .map((rect) => visiblePart(owner, rect))
      .filter((rect) => rect !== undefined)
    if (rects.length === 0) continue
    if (ID.test(text) && owner.closest('code') === null) problems.push(`raw id: ${text}`)
    if (owner instanceof HTMLElement) checkClipped(owner, text)
    if (owner.closest('[style*="sticky"], .sticky, .fixed') !== null) continue
    for (const rect of rects) boxes.push({ text, owner, rect })
  }

  boxes.sort((a, b) => a.rect.top - b.rect.top)
  boxes.forEach((one, index) => {
    for (const other of boxes.slice(index + 1)) {
      if (other.rect.top > one.rect.bottom - SLACK) break
      if (one.owner === other.owner) continue
      const across =
        Math.min(one.rect.right, other.rect.right) - Math.max(one.rect.left, other.rect.left)
      const down = Math.min(one.rect.bottom, other.rect.bottom) - other.rect.top
      if (across > SLACK && down > 2 * SLACK) {
        problems.push(`one over the other: ${one.text} / ${other.text}`)
      }
    }
  })
  return problems
}
