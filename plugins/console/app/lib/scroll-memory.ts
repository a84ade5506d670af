import { type RouterHistory, useRouter } from '@tanstack/react-router'
import { type RefObject, useEffect } from 'react'

const KEY = 'console-scroll'
const MOST_PLACES = 100
/** How long to wait for data to load until the page is as tall as before. */
const LONGEST_MS = 3000

interface Entry {
  readonly pathname: string
  readonly state: { readonly __TSR_key?: string }
}

/**
 * Restores the scroll position on back, forward and reload, and scrolls other pages to the top. The
 * browser does neither, because an element scrolls here, not the window.
 */
export function useScrollMemory(scroller: RefObject<HTMLElement | null>): void {
  const router = useRouter()
  useEffect(() => {
    const element = scroller.current
    if (element === null) return
    const places = new Map<string, number>(JSON.parse(sessionStorage.getItem(KEY) ?? '[]'))
    const history: RouterHistory = router.history
    let here: Entry = history.location
    let target = places.get(idOf(here))
    let until = 0
    const remember = () => void places.set(idOf(here), element.scrollTop)
    const store = () => sessionStorage.setItem(KEY, JSON.stringify([...places].slice(-MOST_PLACES)))
    const stop = () => {
      until = 0
    }
    function lead(): void {
      if (target === undefined || element === null || performance.now() > until) return
      element.scrollTop = target
      if (element.scrollTop < target - 1) requestAnimationFrame(lead)
    }
    function begin(): void {
      until = performance.now() + LONGEST_MS
      lead()
    }
    begin()
    const ends = [
      history.subscribe(({ location, action: { type } }) => {
        const isSame = pageOf(location) === pageOf(here)
        here = location
        if (type === 'PUSH' || type === 'REPLACE') target = isSame ? undefined : 0
        else target = places.get(idOf(here))
        if (isSame) remember()
      }),
      router.subscribe('onRendered', begin),
    ]
    element.addEventListener('scroll', remember)
    for (const name of ['wheel', 'pointerdown', 'keydown']) element.addEventListener(name, stop)
    window.addEventListener('pagehide', store)
    return () => {
      for (const end of ends) end()
      element.removeEventListener('scroll', remember)
      for (const name of ['wheel', 'pointerdown', 'keydown'])
        element.removeEventListener(name, stop)
      window.removeEventListener('pagehide', store)
    }
  }, [scroller, router])
}

const idOf = ({ pathname, state }: Entry) => state.__TSR_key ?? pathname

/**
 * `/requests` and `/requests/ID` are one page, so that it keeps its position while a sheet opens.
 */
function pageOf({ pathname }: Entry): string {
  const [, , page = '', part = ''] = pathname.split('/')
  return page === 'identity' || page === 'me' ? `${page}/${part}` : page
}
