/** The gateway's version, as telemetry states it. Equal to that of package.json. */
export const VERSION = '0.1.0'
