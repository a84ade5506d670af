import type { ClipboardEvent } from 'react'

/** Cells copied from a table are separated by tabs, so that they paste into a spreadsheet. */
export function copyRows(event: ClipboardEvent<HTMLElement>): void {
  const selection = document.getSelection()
  if (selection === null || selection.rangeCount === 0) return
  const range = selection.getRangeAt(0)
  const selected = (parent: Element, cells: string) =>
    [...parent.querySelectorAll<HTMLElement>(cells)].filter((it) => range.intersectsNode(it))
  const lines = selected(event.currentTarget, '[role=row]').map((row) =>
    // biome-ignore lint/performance/useDomNodeTextContent: it has no space between a name and its badge
    selected(row, '[role=cell], [role=columnheader]').map(({ innerText }) =>
      innerText.replaceAll(/\s+/g, ' ').trim(),
    ),
  )
  if (lines.flat().length < 2) return
  event.clipboardData.setData('text/plain', lines.map((cells) => cells.join('\t')).join('\n'))
  event.preventDefault()
}
