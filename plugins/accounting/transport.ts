import type { Logger } from 'pino'
import type { EmailConfig } from './config.ts'
import type { Mail } from './mail.ts'

/** Timeouts for the connection, the greeting and later replies of the server. */
const CONNECT_MS = 10_000
const SILENCE_MS = 30_000

export interface Transport {
  /** Resolves when a mail server has accepted the email. */
  send(mail: Mail): Promise<void>
}

export function createMailTransport(config: EmailConfig, log: Logger): Transport {
  const { smtp, from } = config
  if (config.transport === 'log' || smtp === undefined) {
    return {
      async send({ to, subject, text }) {
        log.info({ from, to, subject, text }, 'mail')
      },
    }
  }
  const { host, port, username, password, starttls } = smtp
  // Loaded only if email is used, because it slows the start.
  const server = import('nodemailer').then(({ createTransport }) =>
    createTransport({
      host,
      port,
      secure: !starttls && port === 465,
      requireTLS: starttls,
      ignoreTLS: !starttls,
      ...(username !== undefined &&
        password !== undefined && { auth: { user: username, pass: password.reveal() } }),
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    }),
  )
  return {
    async send({ to, ...mail }) {
      // A string would be parsed as a list: an email for "ops,ada@example.com" would go to Ada.
      await (await server).sendMail({ from, to: { name: '', address: to }, ...mail })
    },
  }
}
