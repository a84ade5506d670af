/** Gives each text that is truncated with an ellipsis a tooltip with the full text. */
export function startWholeText(): void {
  document.addEventListener('mouseover', ({ target }) => {
    for (let at = target; at instanceof HTMLElement; at = at.parentElement) {
      // An explicit title is kept.
      if (at.title !== '' && at.dataset.whole === undefined) return
      if (at.scrollWidth <= at.clientWidth || getComputedStyle(at).textOverflow !== 'ellipsis')
        continue
      at.dataset.whole = ''
      at.title = at.textContent
      return
    }
  })
}
