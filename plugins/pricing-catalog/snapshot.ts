import type { SnapshotFile } from './_shared/sheet.ts'
import snapshot from './snapshot.json' with { type: 'json' }

/** With its date and its sources. */
export const bundledFile = snapshot as unknown as SnapshotFile

/**
 * The price list that every release has, made by `generate/main.ts`: pricing provider id → model → dated
 * rows.
 */
export const bundledSnapshot = bundledFile.providers
