import { type ClassValue, clsx } from 'clsx'
import { twMerge } from 'tailwind-merge'

/**
 * Joins class names; a later Tailwind class overrides an earlier one.
 *
 * @example cx('p-2', isWide && 'p-4') // 'p-4'
 */
export function cx(...classes: ClassValue[]): string {
  return twMerge(clsx(classes))
}
