/** Ports of monitoring, as environment variables: those of cardano-wallet. */

/** The address of one monitoring listener: Prometheus or EKG. */
interface Place {
  readonly host: string;
  /** As the environment has it. */
  readonly port: string;
}

export interface Monitoring {
  readonly prometheus?: Place;
  readonly ekg?: Place;
}

/** The two services, with the start of the names of their variables. */
export const MONITORING_SERVICES = [
  { name: "prometheus", variable: "CARDANO_WALLET_PROMETHEUS", title: "Prometheus", path: "/metrics" },
  { name: "ekg", variable: "CARDANO_WALLET_EKG", title: "EKG", path: "" },
] as const;

/** The environment variables, as lines of the help text. */
export const MONITORING_HELP = `In the environment
  CARDANO_WALLET_PROMETHEUS_PORT, …_HOST   serves this process's metrics in Prometheus's format at /metrics (off; 127.0.0.1)
  CARDANO_WALLET_EKG_PORT, …_HOST          serves them as EKG's JSON (off; 127.0.0.1)`;

/** Reads the environment variables. A port is checked when it is used. */
export function readMonitoring(env: Readonly<Record<string, string | undefined>>): Monitoring {
  return Object.fromEntries(MONITORING_SERVICES.flatMap(({ name, variable }) => {
    const port = env[`${variable}_PORT`];
    return port ? [[name, { host: env[`${variable}_HOST`] || "127.0.0.1", port }]] : [];
  }));
}
