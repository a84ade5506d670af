import { type ClassValue, clsx } from 'clsx'
import { twMerge } from 'tailwind-merge'

/**
 * Class names as one text; later ones of Tailwind go before earlier ones.
 *
 * @example cx('p-2', isWide && 'p-4') // 'p-4'
 */
export function cx(...classes: ClassValue[]): string {
  return twMerge(clsx(classes))
}
