import type { SnapshotFile } from './_shared/sheet.ts'
import snapshot from './snapshot.json' with { type: 'json' }

/** The bundled list, with its date and sources. */
export const bundledFile = snapshot as unknown as SnapshotFile

/**
 * The price list of this release, written by `generate/main.ts`: pricing provider id → model →
 * dated rows.
 */
export const bundledSnapshot = bundledFile.providers
