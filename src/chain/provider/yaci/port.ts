/** Port adapter for Yaci Store, and for the admin host of Yaci DevKit where the network is not a public one. */
import { BlockfrostHttp } from "#src/chain/provider/blockfrost/http.ts";
import { type BlockfrostPort, type BlockfrostPortSettings, servicePort } from "#src/chain/provider/blockfrost/port.ts";
import { yaciDialect } from "#src/chain/provider/yaci/dialect.ts";

interface YaciPortSettings extends BlockfrostPortSettings {
  /** URL of the admin host, without a path: `http://127.0.0.1:10000`. */
  readonly adminUrl?: string;
}

/** The port to the store at a URL. It sends nothing before the first query. */
export function yaciPort(settings: YaciPortSettings): BlockfrostPort {
  const { adminUrl, magic } = settings;
  const http = new BlockfrostHttp({ ...settings, service: "Yaci Store" });
  if (adminUrl === undefined) return servicePort(settings, http, yaciDialect(http, magic));
  const admin = new BlockfrostHttp({ ...settings, url: adminUrl, service: "Yaci admin host" });
  const port = servicePort(settings, http, yaciDialect(http, magic, admin));
  return {
    ...port,
    close: () => {
      port.close();
      admin.close();
    },
  };
}
