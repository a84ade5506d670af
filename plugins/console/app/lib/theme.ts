import { createStore } from '@/lib/store.ts'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const KEY = 'console-theme'
const dark = window.matchMedia('(prefers-color-scheme: dark)')

const isTheme = (value: string | null): value is Theme => themes.some((theme) => theme === value)

const stored = localStorage.getItem(KEY)

/** The chosen theme; `system` by default. */
export const theme = createStore<Theme>(isTheme(stored) ? stored : 'system')

function apply(): void {
  const chosen = theme.get()
  document.documentElement.dataset.theme =
    chosen === 'system' ? (dark.matches ? 'dark' : 'light') : chosen
}

export function chooseTheme(next: Theme): void {
  localStorage.setItem(KEY, next)
  theme.set(next)
  apply()
}

/** Applies the theme and follows changes of the system's theme. */
export function startTheme(): void {
  apply()
  dark.addEventListener('change', apply)
}
