import { type ClassValue, clsx } from 'clsx'
import { twMerge } from 'tailwind-merge'

/** Class names as one text; later ones of Tailwind go before earlier ones. */
export function cx(...classes: ClassValue[]): string {
  return twMerge(clsx(classes))
}
