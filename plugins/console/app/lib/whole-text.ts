/** From now on, whatever is cut off with an ellipsis shows its whole text under the pointer. */
export function startWholeText(): void {
  document.addEventListener('mouseover', ({ target }) => {
    for (let at = target; at instanceof HTMLElement; at = at.parentElement) {
      // What has a title of its own says more than its text.
      if (at.title !== '' && at.dataset.whole === undefined) return
      if (at.scrollWidth <= at.clientWidth || getComputedStyle(at).textOverflow !== 'ellipsis')
        continue
      at.dataset.whole = ''
      at.title = at.textContent
      return
    }
  })
}
