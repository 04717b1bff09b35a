#include "command.h"
int command_info(int c,char**v){(void)c;(void)v;return 0;}
int command_bench(int c,char**v){(void)c;(void)v;return 0;}
int command_run(int c,char**v){(void)c;(void)v;return 0;}
int command_top(int c,char**v){(void)c;(void)v;return 0;}
int command_doctor(int c,char**v){(void)c;(void)v;return 0;}
