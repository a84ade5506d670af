import {
  anthropicCosts,
  anthropicCostsCsv,
  anthropicUsage,
  anthropicUsageCsv,
} from './anthropic.ts'
import { awsCur, awsFocus } from './bedrock.ts'
import type { Format } from './format.ts'
import { gcpCostTable, gcpExport } from './google.ts'
import { InvoiceError } from './line.ts'
import { openaiCosts, openaiUsage } from './openai.ts'

export const formats: readonly Format[] = [
  openaiUsage,
  openaiCosts,
  anthropicUsage,
  anthropicUsageCsv,
  anthropicCosts,
  anthropicCostsCsv,
  awsCur,
  awsFocus,
  gcpExport,
  gcpCostTable,
]

/** The format with these columns. */
export function formatOf(columns: ReadonlySet<string>): Format | undefined {
  return formats.find((format) => format.columns.every((column) => columns.has(column)))
}

/** The error for an unknown format, with the columns of the file and the known formats. */
export function unknownFormat(columns: Iterable<string>, asked: Format | undefined): InvoiceError {
  const found = [...columns].map((column) => column.slice(0, 60))
  const shown = found.slice(0, 20).join(', ') + (found.length > 20 ? ', …' : '')
  if (asked !== undefined) {
    const missing = asked.columns.filter((column) => !found.includes(column))
    return new InvoiceError(
      `the file is not ${asked.id}: the columns ${missing.join(', ')} are missing; it has ${shown}`,
    )
  }
  const known = formats.map(({ id, title }) => `  ${id}: ${title}`).join('\n')
  return new InvoiceError(`unknown file format; it has ${shown}\nknown formats:\n${known}`)
}
