// without the theme's fonts: the system's are there at once
export { default } from "vitepress/theme-without-fonts";
import "./style.css";
